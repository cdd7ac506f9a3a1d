# SPDX-License-Identifier: LGPL-2.1-or-later
# Completion of queryctl for fish.

set -l verbs sql sparql update import export explain shell ls prefixes stats status cancel backup restore check optimize fulltext payload store watch

function __queryctl_tables
    queryctl ls --format tsv --no-header 2>/dev/null | cut -f1
end

function __queryctl_stores
    queryctl store list --format tsv --no-header 2>/dev/null | cut -f1
end

complete -c queryctl -f
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a sql -d 'Run queries and print their rows'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a sparql -d 'Run a SPARQL query'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a update -d 'Run statements that write'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a import -d 'Read csv, tsv or jsonl into a table'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a export -d 'Write a table or result'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a explain -d 'Show how a statement would be run'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a shell -d 'Type statements and see their results'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a ls -d 'List tables and views'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a prefixes -d 'List the prefixes of namespaces'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a stats -d 'Print the figures of the daemon'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a status -d 'Show the daemon and its limits'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a cancel -d 'End running queries'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a backup -d 'Copy the database to a new file'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a restore -d 'Put a backup in the place of the database'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a check -d 'Check the database'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a optimize -d 'Refresh statistics, shorten the log'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a fulltext -d 'What full-text search finds'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a payload -d 'Store, read, replace, delete contents'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a store -d 'Manage further databases'
complete -c queryctl -n "not __fish_seen_subcommand_from $verbs" -a watch -d 'Print a result again after each change'
complete -c queryctl -n "__fish_seen_subcommand_from import backup restore" -F
complete -c queryctl -n "__fish_seen_subcommand_from export ls" -a "(__queryctl_tables)"
complete -c queryctl -n "__fish_seen_subcommand_from payload" -a "ls store cat replace rm" -F
complete -c queryctl -n "__fish_seen_subcommand_from store" -a "list create import" -F

complete -c queryctl -s F -l format -x -a "table tsv csv json jsonl markdown sparql-json sparql-xml sparql-csv sparql-tsv turtle trig ntriples nquads rdfxml" -d 'Format of rows'
complete -c queryctl -s p -l param -x -d 'A parameter'
complete -c queryctl -s P -l param-text -x -d 'A parameter that is a text'
complete -c queryctl -s f -l file -r -F -d 'Read the statements from a file'
complete -c queryctl -s o -l output -r -F -d 'Write to a file'
complete -c queryctl -s t -l table -x -a "(__queryctl_tables)" -d 'The table to fill'
complete -c queryctl -l create -d 'Create the table from the header'
complete -c queryctl -s g -l graph -x -d 'RDF: the graph'
complete -c queryctl -l base -x -d 'RDF: what relative IRIs are resolved against'
complete -c queryctl -l replace -d 'RDF: what is there goes first'
complete -c queryctl -l check-only -d 'RDF: read and change nothing'
complete -c queryctl -l media-type -x -d 'What the content is'
complete -c queryctl -l null -x -d 'Print NULL as text'
complete -c queryctl -l no-header -d 'No line with the names'
complete -c queryctl -s n -l max-rows -x -d 'End after N rows'
complete -c queryctl -l timeout -x -d 'End after seconds'
complete -c queryctl -l timing -d 'Print rows and times'
complete -c queryctl -l watch -d 'Print again after each change'
complete -c queryctl -l sparql -d 'The statement is SPARQL'
complete -c queryctl -l transaction -d 'All statements as one'
complete -c queryctl -l full -d 'Check indexes too'
complete -c queryctl -l openmetrics -d 'OpenMetrics text format'
complete -c queryctl -l warm -d 'Read the database into memory'
complete -c queryctl -l all -d 'Literals of every predicate'
complete -c queryctl -l tokenizer -x -a 'unicode61 porter trigram' -d 'How texts are cut into words'
complete -c queryctl -l no-pager -d 'Tables straight to the terminal'
complete -c queryctl -s s -l store -x -a "(__queryctl_stores)" -d 'Use another database'
complete -c queryctl -l direct -r -F -d 'Read a database file itself'
complete -c queryctl -s h -l help -d 'Print the help'
complete -c queryctl -l version -d 'Print the version'
