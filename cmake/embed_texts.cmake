cmake_minimum_required(VERSION 3.25)
# cmake -DOUT=file -DMACRO=WF_GPU_SOURCE -DFILES=a.h;b.h -P embed_texts.cmake
# Writes one MACRO("a.h", "text") per file. The name is the file's name without its folder, which is
# unique in the tree: #include "math/a.h" inside a text is looked up by its last part.
list(SORT FILES)
set(out "// Made by cmake/embed_texts.cmake.\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "??" "?\\?" text "${text}") # trigraphs
  # One literal a line: compilers bound the length of each.
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  string(APPEND out "${MACRO}(\"${name}\",\n    \"${text}\")\n")
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/write_changed.cmake)
