# ccl-gloo-DATE.so: the module over a Gloo that is compiled from CCL_GLOO_SOURCE, and named after the day of the last commit there (UTC). Gloo is
# static there and its names are hidden, so that several versions fit into one process.
set(gloo_root ${CCL_GLOO_SOURCE})
foreach(file .git CMakeLists.txt gloo/config.h.in gloo/transport/tcp/device.cc)
  if(NOT EXISTS ${gloo_root}/${file})
    message(FATAL_ERROR "CCL_GLOO_SOURCE=${gloo_root} is no checkout of Gloo: it lacks ${file}; give the folder of a git clone of Gloo")
  endif()
endforeach()
function(ask_git variable)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env TZ=UTC git -C ${gloo_root} ${ARGN} OUTPUT_VARIABLE answer ERROR_VARIABLE error
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "CCL_GLOO_SOURCE=${gloo_root}: git does not tell its last commit: ${error}")
  endif()
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()
ask_git(gloo_date log -1 --format=%cd --date=format-local:%Y%m%d)
ask_git(gloo_commit describe --always --dirty --abbrev=8 --exclude=*)

# CMake runs again after a commit, a checkout or a change of a file, since these change the module's name or version.
set(folders gloo gloo/common gloo/rendezvous gloo/transport gloo/transport/tcp)
list(TRANSFORM folders PREPEND ${gloo_root}/)
list(TRANSFORM folders APPEND /*.cc OUTPUT_VARIABLE sources)
list(TRANSFORM folders APPEND /*.h OUTPUT_VARIABLE headers)
file(GLOB gloo_sources CONFIGURE_DEPENDS ${sources})
file(GLOB gloo_others CONFIGURE_DEPENDS ${headers} ${gloo_root}/.git/HEAD ${gloo_root}/.git/logs/HEAD)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gloo_sources} ${gloo_others})

# What Gloo's own build makes of these files without options: TCP alone.
file(STRINGS ${gloo_root}/CMakeLists.txt gloo_versions REGEX "^set\\(GLOO_VERSION_(MAJOR|MINOR|PATCH) [0-9]+\\)")
foreach(line ${gloo_versions})
  string(REGEX MATCH "(GLOO_VERSION_[A-Z]+) ([0-9]+)" line "${line}")
  set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()
set(GLOO_HAVE_TRANSPORT_TCP 1)
configure_file(${gloo_root}/gloo/config.h.in gloo-source/gloo/config.h)
list(FILTER gloo_sources EXCLUDE REGEX "/(cuda[^/]*|redis_store|win)\\.cc$")
add_library(gloo-source STATIC EXCLUDE_FROM_ALL ${gloo_sources})
set_target_properties(gloo-source PROPERTIES CXX_VISIBILITY_PRESET hidden UNITY_BUILD OFF)
target_compile_options(gloo-source PRIVATE -w)  # its warnings are not ours
target_include_directories(gloo-source SYSTEM PUBLIC ${gloo_root} ${CMAKE_CURRENT_BINARY_DIR}/gloo-source)
target_link_libraries(gloo-source PUBLIC Threads::Threads)

add_gloo_module(gloo-${gloo_date} "+${gloo_date}.${gloo_commit}" gloo-source)
# Instances of the standard library's templates over Gloo's types stay visible otherwise.
target_link_options(ccl-gloo-${gloo_date} PRIVATE -Wl,--exclude-libs,ALL)
string(APPEND CCL_MODULES_SUMMARY "\n  gloo-${gloo_date}: ${GLOO_VERSION_MAJOR}.${GLOO_VERSION_MINOR}.${GLOO_VERSION_PATCH}, commit ${gloo_commit}")
set(CCL_MODULES_SUMMARY "${CCL_MODULES_SUMMARY}" PARENT_SCOPE)
