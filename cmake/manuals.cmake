# Manual pages, by help2man from what the programs print, and completion, below share/ of the build
# tree as of an installed one.
get_property(collectives GLOBAL PROPERTY CCL_COLLECTIVES)
list(TRANSFORM collectives APPEND _perf)
set(programs init_perf ccl_acceptance ccl_compare ccl_replay ccl_selftest device_check mesh_perf ${collectives})
set(share ${PROJECT_BINARY_DIR}/share)

find_program(CCL_HELP2MAN help2man)
mark_as_advanced(CCL_HELP2MAN)
if(NOT CCL_HELP2MAN)
  message(STATUS "Manual pages: left out, help2man was not found (package help2man)")
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "Manual pages: left out, the programs do not run here")
else()
  foreach(program ${programs})
    set(page ${share}/man/man1/${program}.1)
    add_custom_command(OUTPUT ${page}
                       COMMAND ${PROJECT_SOURCE_DIR}/cmake/man_page.sh $<TARGET_FILE:${program}> ${PROJECT_VERSION} ${page}
                       DEPENDS ${program} ccl ${PROJECT_SOURCE_DIR}/cmake/man_page.sh
                       COMMENT "Writing ${program}.1" VERBATIM)
    list(APPEND pages ${page})
  endforeach()
  add_custom_target(manuals ALL DEPENDS ${pages})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

set(CCL_ZSH_FUNCTIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Folder of zsh's completion below the prefix; Debian's own packages use share/zsh/vendor-completions")
set(bash ${share}/bash-completion/completions)
foreach(program ${programs})
  list(APPEND links ${bash}/${program})
endforeach()
list(JOIN programs " " programs)
configure_file(${PROJECT_SOURCE_DIR}/cmake/completion.bash.in ${bash}/ccl_tests @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/completion.zsh.in ${share}/zsh/site-functions/_ccl_tests @ONLY)
foreach(link ${links})
  file(CREATE_LINK ccl_tests ${link} SYMBOLIC)
endforeach()
install(FILES ${bash}/ccl_tests ${links} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${share}/zsh/site-functions/_ccl_tests DESTINATION ${CCL_ZSH_FUNCTIONS})
