# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of queryctl for bash: queryctl itself knows what may come next.

_queryctl()
{
    local cur=${COMP_WORDS[COMP_CWORD]} IFS=$'\n' lines
    lines=$(queryctl --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
    COMPREPLY=()
    if [[ $lines == :files ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -W "$lines" -- "$cur")
    fi
}

complete -F _queryctl queryctl
