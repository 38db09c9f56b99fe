# table.sh - reads what the benchmarks print: comments that begin with "#", a header, and rows; cells are two or more
# blanks apart. To be sourced.

# Prints the cell of a column in the last row.
table_cell() { # FILE COLUMN
  awk -F '  +' -v column="$2" '
    /^#/ { next }
    { sub(/^ +/, ""); $0 = $0 }
    !at { for (i = 1; i <= NF; i++) if ($i == column) at = i; if (!at) exit; next }
    { cell = $at }
    END { print cell }' "$1"
}

# Prints the header as Markdown, with a column more for the command.
table_markdown_header() { # FILE
  awk -F '  +' '
    /^#/ { next }
    {
      sub(/^ +/, ""); $0 = $0
      for (i = 1; i <= NF; i++) { names = names "| " $i " "; rule = rule "|---" }
      print names "| command |"; print rule "|---|"
      exit
    }' "$1"
}

# Prints the rows as Markdown, each with the command.
table_markdown_rows() { # FILE
  awk -F '  +' '
    NR == 1 { command = substr($0, 3) }
    /^#/ { next }
    !header { header = 1; next }
    {
      sub(/^ +/, ""); $0 = $0
      for (i = 1; i <= NF; i++) printf "| %s ", $i
      print "| `" command "` |"
    }' "$1"
}
