# Writes the variable out to the file OUT where it holds something else: a list that stays the same rebuilds nothing.
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT old STREQUAL out)
  file(WRITE ${OUT} "${out}")
endif()
