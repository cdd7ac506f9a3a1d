# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of queryctl for fish: queryctl itself knows what may come next.

function __queryctl_complete
    set -l words (commandline -opc)
    queryctl --complete $words[2..-1] (commandline -ct) 2>/dev/null
end

complete -c queryctl -f -a "(__queryctl_complete | string match -v ':files')"
complete -c queryctl -n "__queryctl_complete | string match -q ':files'" -F
