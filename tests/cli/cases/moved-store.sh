# A store may be moved, copied, made read-only, and opened by a path with a slash at its end or through a link.
printf '1 10\n' | sstore build --quiet here
mkdir -p a/b
mv here a/b/there
sstore query a/b/there 1
sstore query a/b/there/ 1
ln -s a/b/there link
sstore query link 1
cp -r a/b/there copy
sstore verify copy | sed 's/bytes .*/bytes N/'
chmod -R a-w copy
sstore query copy 0
chmod -R u+w copy
(cd copy && sstore query . 1)
