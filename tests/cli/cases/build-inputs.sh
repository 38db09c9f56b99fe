# Inputs that cannot be read are found before anything is, and nothing is left behind.
exec 2>&1
echo 1 >good
mkdir folder
exits 1 sstore build STORE missing
exits 1 sstore build STORE good missing
exits 1 sstore build STORE good folder
exits 1 sstore build STORE /dev/null/nothing
exits 1 sstore build STORE - <folder
absent STORE
exits 1 sstore build no/such/folder/STORE good
ls
