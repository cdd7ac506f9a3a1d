# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of queryctl for bash.

_queryctl_lines()
{
    local IFS=$'\n'
    COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_queryctl()
{
    local verbs="sql sparql update import export explain shell ls prefixes stats status cancel backup restore check optimize fulltext payload store watch"
    local options="--format --param --param-text --file --output --table --create --graph --base --replace --check-only --media-type --null
        --no-header --max-rows --timeout --timing --watch --sparql --transaction --full --openmetrics --warm --all --tokenizer --no-pager --store --direct --help --version"
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb="" words=0 i

    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --format|--param|--param-text|--file|--output|--table|--graph|--base|--media-type|--null|--max-rows|--timeout|--store|--direct|-[FpPfotnsg]) ((i++)) ;;
            -*) ;;
            *) if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}; else ((++words)); fi ;;
        esac
    done

    COMPREPLY=()
    case $previous in
        --format|-F) COMPREPLY=($(compgen -W "table tsv csv json jsonl markdown sparql-json sparql-xml sparql-csv sparql-tsv
            turtle trig ntriples nquads rdfxml" -- "$cur")); return ;;
        --file|--output|--direct|-f|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --table|-t) _queryctl_lines "$(queryctl ls --format tsv --no-header 2>/dev/null | cut -f1)"; return ;;
        --store|-s) _queryctl_lines "$(queryctl store list --format tsv --no-header 2>/dev/null | cut -f1)"; return ;;
        --param|--param-text|--null|--max-rows|--timeout|--graph|--base|-[pPng]) return ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return
    fi
    case $verb:$words in
        :*) COMPREPLY=($(compgen -W "$verbs" -- "$cur")) ;;
        import:0|backup:0|restore:0|store:1) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")) ;;
        export:0|ls:0) _queryctl_lines "$(queryctl ls --format tsv --no-header 2>/dev/null | cut -f1)" ;;
        watch:0) COMPREPLY=($(compgen -W "sql sparql" -- "$cur")) ;;
        payload:0) COMPREPLY=($(compgen -W "ls store cat replace rm" -- "$cur")) ;;
        payload:1|payload:2) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")) ;;
        store:0) COMPREPLY=($(compgen -W "list create import" -- "$cur")) ;;
    esac
}

complete -F _queryctl queryctl
