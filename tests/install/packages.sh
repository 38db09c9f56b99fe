# packages.sh - what tests/bare.sh --packages does, which sources it: builds the packages by the Dockerfile, where nothing but
# the base system is, checks them with lintian, and uses them in the bare system. Unless SSTORE_PACKAGES_ONCE is set, it also
# builds them and a source package on this machine, with their tests, and compares the two.
images=$work/images ours=$work/ours theirs=$work/theirs

build_packages() {
  umask 077 # another one than there
  packaging/debs.sh --source "$ours" && check_packages "$ours"
}
check_packages() { # folder
  (
    . tests/packages.sh
    need_command lintian lintian
    install_missing
  ) || return 1
  echo "lintian:"
  lintian --allow-root --fail-on error,warning "$1"/*.changes || return 1
  echo "figure: lintian $(lintian --print-version): no error, no warning"
}

# buildah, without its machine-wide settings and storage; in a chroot, since a container cannot make containers. The
# driver vfs works everywhere, but copies all files of an image for each layer.
storage_driver=overlay
with_buildah() {
  BUILDAH_ISOLATION=chroot buildah --storage-driver "$storage_driver" --root "$images/storage" --runroot "$images/run" "$@"
}
inside_image() { with_buildah run "$(with_buildah from --pull-never "$1")" -- "${@:2}"; }
build_image() {
  local container
  mkdir -p "$images/context" "$theirs" || return 1
  with_buildah info >/dev/null 2>&1 || storage_driver=vfs
  tar -C "$root" -cf "$images/context/base.tar" . || return 1
  printf 'FROM scratch\nADD base.tar /\n' >"$images/context/Dockerfile"
  printf '{"default":[{"type":"insecureAcceptAnything"}]}' >"$images/policy.json"
  with_buildah build --quiet --signature-policy "$images/policy.json" -t localhost/sstore-base "$images/context" || return 1
  local options=(--quiet --layers --pull-never --signature-policy "$images/policy.json" --build-arg BASE=localhost/sstore-base
    -f packaging/docker/Dockerfile --ignorefile packaging/docker/Dockerfile.dockerignore)
  with_buildah build "${options[@]}" --target build -t localhost/sstore-build "$work/tree" || return 1
  with_buildah build "${options[@]}" -t localhost/sstore "$work/tree" || return 1
  container=$(with_buildah from --pull-never localhost/sstore-build) || return 1
  cp "$(with_buildah mount "$container")"/packages/* "$theirs/" || return 1
  [ "$(inside_image localhost/sstore id -u)" = 10001 ] || { echo "the image does not run as user 10001"; return 1; }
  inside_image localhost/sstore sstore --version || return 1
  echo "figure: the image has $(with_buildah images --format '{{.Size}}' localhost/sstore), its base" \
    "$(with_buildah images --format '{{.Size}}' localhost/sstore-base)"
  with_buildah umount --all >/dev/null && with_buildah rm --all >/dev/null && rm -rf "$images"
}

compare_packages() {
  local package count=0
  for package in "$theirs"/*.deb; do
    cmp "$package" "$ours/${package##*/}" || return 1
    count=$((count + 1))
  done
  [ "$count" -ge 4 ] || { echo "there are only $count packages"; return 1; }
  echo "figure: $count packages the same, byte for byte"
}

mkdir "$work/tree" && tree_files | tar --null -T - -cf - | tar -C "$work/tree" --no-same-owner -xf - ||
  impossible "the tree cannot be copied"
used=$ours
if ! ( . tests/packages.sh; need_command buildah buildah; install_missing ); then
  echo "not tried: the Dockerfile, since buildah cannot be installed" | tee -a "$figures"
  attempt "packages, and lintian" build_packages
elif [ -n "${SSTORE_PACKAGES_ONCE:-}" ]; then
  used=$theirs
  attempt "packaging/docker/Dockerfile" build_image
  attempt "lintian" check_packages "$theirs"
  echo "not tried: packages of this machine, their tests, and whether both are the same; \`tests/run.sh whole\` tries them" |
    tee -a "$figures"
else
  attempt "packages, and lintian" build_packages
  attempt "packaging/docker/Dockerfile" build_image
  attempt "the packages of both are the same" compare_packages
fi
prepare_root
mkdir "$root/packages" "$root/sstore"
cp "$used"/*.deb "$root/packages/"
chmod -R a+rX "$root/packages"
cp tests/install/check_packages.sh tests/page.sh "$root/sstore/"
try "install, use and purge the packages" "bash check_packages.sh /packages page.sh"
((${#failed[@]} == 0))
