# What `cmake --install` puts where: the public headers, the libraries, the pkg-config files and the CMake package. All
# of it finds its neighbours by relative paths, so that an installed tree can be moved.
include(CMakePackageConfigHelpers)

add_library(sstore::sstore-static ALIAS sstore_static)
add_library(sstore::sstore-text-static ALIAS sstore_text_static)

# Said outright, since a static library must pass on what it is made with, but none of this project's compiler flags.
set(sstore_static_needs PkgConfig::lmdb PkgConfig::xxhash Threads::Threads m)
set(SSTORE_REQUIRES_PRIVATE "libxxhash >= 0.8.0")
set(SSTORE_LIBS_PRIVATE "-pthread -lm")
if(lmdb_FOUND)
  string(PREPEND SSTORE_REQUIRES_PRIVATE "lmdb, ")
else()
  string(PREPEND SSTORE_LIBS_PRIVATE "-llmdb ")
endif()
set(sstore_text_static_needs sstore_static)
set(SSTORE_TEXT_REQUIRES_PRIVATE "sstore = ${PROJECT_VERSION}")
if(utf8proc_FOUND)
  list(APPEND sstore_text_static_needs PkgConfig::utf8proc)
  string(APPEND SSTORE_TEXT_REQUIRES_PRIVATE ", libutf8proc")
endif()
set(SSTORE_TEXT_LIBS_PRIVATE "-pthread -lm")
if(uses_icu AND CMAKE_DL_LIBS) # for dlopen(), which newer C libraries have themselves
  list(APPEND sstore_text_static_needs ${CMAKE_DL_LIBS})
  string(APPEND SSTORE_TEXT_LIBS_PRIVATE " -l${CMAKE_DL_LIBS}")
endif()
foreach(name sstore sstore_text)
  list(TRANSFORM ${name}_static_needs REPLACE "(.+)" "$<LINK_ONLY:\\1>")
  set_property(TARGET ${name}_static PROPERTY INTERFACE_LINK_LIBRARIES "${${name}_static_needs}")
  set_property(TARGET ${name}_shared PROPERTY INTERFACE_LINK_LIBRARIES "")
endforeach()

install(TARGETS sstore_shared sstore_text_shared EXPORT sstore-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS sstore_static sstore_text_static EXPORT sstore-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libstore/include/*.h)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# pkg-config: paths relative to the file itself where the folders are inside the prefix, as they nearly always are.
set(SSTORE_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(SSTORE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(SSTORE_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(SSTORE_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up "/prefix/${SSTORE_PC_DIR}" /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(SSTORE_PC_PREFIX "\${pcfiledir}/${up}")
  set(SSTORE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(SSTORE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
foreach(name sstore sstore-text)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${SSTORE_PC_DIR} COMPONENT development)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sstore)
set(SSTORE_NEEDS_UTF8PROC ${utf8proc_FOUND})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sstore-config.cmake.in
                              ${PROJECT_BINARY_DIR}/sstore-config.cmake INSTALL_DESTINATION ${package_dir})
# Below 1.0 a minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sstore-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sstore-config.cmake ${PROJECT_BINARY_DIR}/sstore-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)
install(EXPORT sstore-targets NAMESPACE sstore:: DESTINATION ${package_dir} COMPONENT development)
