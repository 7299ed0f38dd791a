# Writes a C file that holds statements as text: {"NAME", "the text of FOLDER/NAME.sql"}.
function(nx_embed_sql folder output)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.sql)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(entries "")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
    string(APPEND entries "    {\"${name}\",\n     \"${text}\"},\n")
  endforeach()
  file(GENERATE OUTPUT ${output} CONTENT
"/* Made by cmake/EmbedSql.cmake. */
#include \"analysis/ask.h\"

const struct nx_statement nx_statements[] = {
${entries}};
const size_t nx_statement_count = sizeof(nx_statements) / sizeof(nx_statements[0]);
")
endfunction()
