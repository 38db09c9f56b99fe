class Sstore < Formula
  desc "Compressed, exact Hamming-distance search over billions of fingerprints on disk"
  homepage "https://example.org/sstore"
  url "https://example.org/sstore/releases/sstore-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "sqlite" => :build # its header: the extension links no SQLite
  depends_on "libmicrohttpd"
  depends_on :linux
  depends_on "lmdb"
  depends_on "utf8proc"
  depends_on "xxhash"
  depends_on "zlib"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DSSTORE_TESTS=OFF", "-DSSTORE_BENCH=OFF",
           "-DSSTORE_SQLITE=ON", "-DSSTORE_ICU=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "examples"
  end

  test do
    (testpath/"docs.tsv").write "84adfe2d13e12cb\t1\n84adfe2d13e12c9\t2\n7d1b94a0c3f5e682\t3\n"
    system bin/"sstore", "build", "docs.store", "docs.tsv"
    assert_match "084adfe2d13e12cf\t084adfe2d13e12cb\t1\t1", shell_output("#{bin}/sstore query docs.store 84adfe2d13e12cf")
    system ENV.cc, pkgshare/"examples/embed.c", "-I#{include}", "-L#{lib}", "-lsstore", "-o", "embed"
    assert_match "084adfe2d13e12cb", pipe_output("./embed docs.store 32", "84adfe2d13e12cf\n")
  end
end
