# Documents that are rows of CSV (RFC 4180) or of lines with tabs, for 'fingerprint' and 'idf'.
text="the quick brown fox jumps over the lazy dog"
fingerprint() { sstore fingerprint --no-comments "$@"; }
echo "$text" | fingerprint --lines | cut -f 1 >wanted
with() { cut -f 1 | sort -u | same - wanted; }
echo "--- any form of a field with the text"
printf 'text\n"%s"\n%s\n' "$text" "$text" | fingerprint --csv | with
printf 'id,text,more\r\n1,"%s",\r\n2,%s,"a\r\nb"\r\n\r\n3,"%s",""""\r\n' "$text" "$text" "$text" >table.csv
fingerprint --csv table.csv | with
printf '\xef\xbb\xbftext;id\n%s;1\n' "$text" | fingerprint --csv | with
printf 'a\t%s\n' "$text" | fingerprint --tsv --no-header --text-field 2 | with
printf '"text","b"\n"%s"x,1\n' "$text" | fingerprint --csv --text-field text | with
printf '"a ""b""",2\n%s,1\n' "$text" | fingerprint --csv --text-field 1 | with
echo "--- quotes mean nothing between tabs"
printf 'text\n"a\n"b\n' | fingerprint --tsv | wc -l
echo "--- ids and names; rows are numbered from 0, without blank ones"
fingerprint --csv table.csv | cut -f 2 | paste -sd ' '
fingerprint --csv --id-field id table.csv | cut -f 2 | paste -sd ' '
fingerprint --csv --id-field more table.csv 2>&1
printf 'text,name\na b,"x ""y"""\nc d,z\n' | fingerprint --csv --id-field name | cut -f 2-
echo "--- frequencies"
sstore idf --csv table.idf table.csv
echo "--- lines of messages count line feeds between quotes"
printf 'text,n\n"a\nb\nc",1\nd\n' | fingerprint --csv --text-field n 2>&1
echo "--- a table as text"
fingerprint table.csv >/dev/null
printf 'a\tb\n1\tx y\n' >table.tsv && sstore fingerprint --no-comments --lines table.tsv >/dev/null
