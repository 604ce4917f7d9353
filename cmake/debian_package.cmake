# CPack runs this in the tree of a package before the package is made. A .deb gets what Debian expects of every package.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
file(GLOB pages ${usr}/share/man/man1/*.1)
if(pages)
  execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
set(documents ${usr}/share/doc/ccl-tests)
file(READ ${CPACK_RESOURCE_FILE_LICENSE} license)
file(WRITE ${documents}/copyright "${CPACK_PACKAGE_VENDOR}\n\n${license}")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH sets it
file(WRITE ${documents}/changelog "ccl-tests (${CPACK_PACKAGE_VERSION}) stable; urgency=medium\n\n  * ccl-tests ${CPACK_PACKAGE_VERSION}.\n\n"
  " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9n ${documents}/changelog COMMAND_ERROR_IS_FATAL ANY)
# Programs and modules find the library in /usr/lib.
file(GLOB files ${usr}/bin/* ${usr}/lib/*.so ${usr}/lib/ccl-tests/*.so)
foreach(file IN LISTS files)
  file(RPATH_REMOVE FILE ${file})
endforeach()
