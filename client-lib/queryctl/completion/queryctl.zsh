#compdef queryctl
# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of queryctl for zsh: queryctl itself knows what may come next.

_queryctl() {
  local -a lines
  lines=(${(f)"$(queryctl --complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ $lines[1] == :files ]]; then
    _files
    return
  fi
  lines=("${(@)lines//:/\\:}")
  lines=("${(@)lines//$'\t'/:}")
  _describe word lines
}

_queryctl "$@"
