# HTML is taken away before texts are fingerprinted, in files, lines and JSON.
sstore fingerprint --recipe --markup html | sed 's/unicode=.*/unicode=.../'
sstore fingerprint --recipe --markup none | sed 's/unicode=.*/unicode=.../'
cat >page.html <<'END'
<!DOCTYPE html>
<html><head><title>Ice &amp; cream</title><script>var hidden = "<p>1</p>";</script></head>
<!-- hidden --><body class='a>b'><p>We all <b>l</b>ove<br>ice&nbsp;cr&eacute;am</p></body>
END
echo 'Ice & cream We all love ice créam' >plain.txt
one() { sstore fingerprint --no-comments "$@" | cut -f 1; }
[ "$(one --markup html page.html)" = "$(one plain.txt)" ] || echo "FAILED: the page is not its text"
[ "$(one page.html)" != "$(one plain.txt)" ] || echo "FAILED: markup is taken away unasked"
[ "$(one --markup html plain.txt)" = "$(one plain.txt)" ] || echo "FAILED: text has no markup"
[ "$(one --markup html --features chars - <<<'<p>A <b>b</b> c')" = "$(one --features chars - <<<'a b c')" ] ||
    echo "FAILED: characters keep markup"
[ "$(gzip -c page.html | one --markup html)" = "$(one plain.txt)" ] || echo "FAILED: compressed"
# Each line is a text of its own: what one does not close, another does not continue.
printf '<p>one\n<!-- two\n<b>t</b>hree\n' >lines
printf 'one\n\nthree\n' >plain
sstore fingerprint --no-comments --lines --markup html lines 2>skipped >from_html
sstore fingerprint --no-comments --lines plain 2>/dev/null | cmp - from_html
cat skipped
exits 2 sstore fingerprint --markup xml page.html
exits 2 sstore fingerprint --markup html --weighted page.html
