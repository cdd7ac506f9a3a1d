#compdef queryctl
# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of queryctl for zsh.

_queryctl_tables() {
  local -a tables
  tables=(${(f)"$(queryctl ls --format tsv --no-header 2>/dev/null | cut -f1)"})
  compadd -a tables
}

_queryctl_stores() {
  local -a stores
  stores=(${(f)"$(queryctl store list --format tsv --no-header 2>/dev/null | cut -f1)"})
  compadd -a stores
}

_queryctl_verbs() {
  local -a verbs
  verbs=(
    'sql:run queries and print their rows'
    'sparql:run a SPARQL query and print its rows or triples'
    'update:run statements that write'
    'import:read csv, tsv or jsonl into a table, or RDF into graphs'
    'export:write a table or result, or all RDF data'
    'explain:show how a statement would be run'
    'shell:type statements and see their results'
    'ls:list tables and views'
    'prefixes:list the prefixes of namespaces'
    'stats:print the figures of the daemon'
    'status:show the daemon, its running queries and its limits'
    'cancel:end running queries'
    'backup:write a consistent copy of the database to a new file'
    'restore:put a backup in the place of the database'
    'check:check the database'
    'optimize:refresh statistics and shorten the log'
    'fulltext:what full-text search finds'
    'payload:keep contents that have an id'
    'store:manage further databases'
    'watch:print the result of a query again after each change of it'
  )
  _describe verb verbs
}

_queryctl_words() {
  case $words[1] in
    import|backup|restore) _files ;;
    export|ls) _queryctl_tables ;;
    payload) if (( CURRENT == 2 )); then compadd ls store cat replace rm; else _files; fi ;;
    store) if (( CURRENT == 2 )); then compadd list create import; else _files; fi ;;
  esac
}

_queryctl() {
  local curcontext=$curcontext state line
  _arguments -C \
    '(-F --format)'{-F,--format}'[format of rows]:format:(table tsv csv json jsonl markdown sparql-json sparql-xml sparql-csv sparql-tsv turtle trig ntriples nquads rdfxml)' \
    '*'{-p,--param}'[a parameter]:name=value:' \
    '*'{-P,--param-text}'[a parameter that is a text]:name=text:' \
    '(-f --file)'{-f,--file}'[read the statements from a file]:file:_files' \
    '(-o --output)'{-o,--output}'[write to a file]:file:_files' \
    '(-t --table)'{-t,--table}'[the table to fill]:table:_queryctl_tables' \
    '--create[create the table from the header]' \
    '(-g --graph)'{-g,--graph}'[RDF\: the graph]:IRI:' \
    '--base[RDF\: what relative IRIs are resolved against]:IRI:' \
    '--media-type[what the content is]:type:' \
    '--replace[RDF\: what is there goes first]' \
    '--check-only[read and change nothing]' \
    '--null[print NULL as text]:text:' \
    '--no-header[no line with the names]' \
    '(-n --max-rows)'{-n,--max-rows}'[end after N rows]:number:' \
    '--timeout[end after seconds]:seconds:' \
    '--timing[print rows and times]' \
    '--watch[print again after each change]' \
    '--sparql[the statement is SPARQL]' \
    '--transaction[all statements as one]' \
    '--full[check indexes too]' \
    '--openmetrics[print in the OpenMetrics text format]' \
    '--warm[read the database into memory]' \
    '--all[literals of every predicate]' \
    '--tokenizer[how texts are cut into words]:tokenizer:(unicode61 porter trigram)' \
    '--no-pager[print tables straight to the terminal]' \
    '(-s --store)'{-s,--store}'[use another database]:store:_queryctl_stores' \
    '--direct[read a database file itself]:file:_files' \
    '(-h --help)'{-h,--help}'[print the help]' \
    '--version[print the version]' \
    '1:verb:_queryctl_verbs' \
    '*::argument:_queryctl_words'
}

_queryctl "$@"
