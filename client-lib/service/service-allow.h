/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which endpoints may be asked: [Service] of queryd.conf.
 *
 * Place: room service of the library's programs. Invariant: what no line names is refused; the process that has the network reads
 * the list itself, so the daemon cannot widen it.
 */
#pragma once

#include <gio/gio.h>

typedef struct ServiceAllow ServiceAllow;

/**
 * service_allow_new:
 * @entries: (nullable): URLs, each an origin or a path of one; "*": any public host
 * @private_hosts: (nullable): names of hosts whose addresses may be private
 * @ret_bad: (out) (transfer full) (nullable): the first entry that is none
 *
 * Returns: (transfer full): the list, without the entries that are none
 */
ServiceAllow *service_allow_new(const char *const *entries, const char *const *private_hosts, char **ret_bad);
void service_allow_free(ServiceAllow *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ServiceAllow, service_allow_free)

/* Reads it from queryd.conf and its drop-ins. @path: (nullable): the user's own. A bad entry is logged. */
ServiceAllow *service_allow_load(const char *path);

/* Whether @uri may be asked; ACCESS_DENIED with the key to set. */
gboolean service_allow_check_url(const ServiceAllow *self, GUri *uri, GError **error);

/* Whether @address, which the host of @uri has, may be connected to; ACCESS_DENIED with the key to set. */
gboolean service_allow_check_address(const ServiceAllow *self, GUri *uri, GInetAddress *address, GError **error);
