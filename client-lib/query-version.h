/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The version of the library that a program is compiled against.
 *
 * Part of query-client.h. A new function's declaration is preceded by QUERY_AVAILABLE_IN_ and the version that it came with. A
 * program that defines QUERY_VERSION_MAX_ALLOWED, as QUERY_VERSION_0_1, gets a warning for each function that is newer.
 */
#pragma once

#include <glib.h>

/**
 * QUERY_MAJOR_VERSION:
 *
 * The first number of the version.
 */
#define QUERY_MAJOR_VERSION 0

/**
 * QUERY_MINOR_VERSION:
 *
 * The second number of the version.
 */
#define QUERY_MINOR_VERSION 1

/**
 * QUERY_MICRO_VERSION:
 *
 * The third number of the version.
 */
#define QUERY_MICRO_VERSION 0

/**
 * QUERY_CHECK_VERSION:
 * @major: first number
 * @minor: second number
 * @micro: third number
 *
 * Whether the library that the program is compiled against is as new as that.
 */
#define QUERY_CHECK_VERSION(major, minor, micro)                                                           \
    (QUERY_MAJOR_VERSION > (major) || (QUERY_MAJOR_VERSION == (major) && QUERY_MINOR_VERSION > (minor)) || \
     (QUERY_MAJOR_VERSION == (major) && QUERY_MINOR_VERSION == (minor) && QUERY_MICRO_VERSION >= (micro)))

/**
 * QUERY_VERSION_0_1: (skip)
 *
 * A value of QUERY_VERSION_MAX_ALLOWED.
 */
#define QUERY_VERSION_0_1 (G_ENCODE_VERSION(0, 1))

#ifndef QUERY_VERSION_MAX_ALLOWED
#define QUERY_VERSION_MAX_ALLOWED (G_ENCODE_VERSION(QUERY_MAJOR_VERSION, QUERY_MINOR_VERSION))
#endif

#if QUERY_VERSION_MAX_ALLOWED < QUERY_VERSION_0_1
#define QUERY_AVAILABLE_IN_0_1 G_UNAVAILABLE(0, 1)
#else
#define QUERY_AVAILABLE_IN_0_1
#endif
