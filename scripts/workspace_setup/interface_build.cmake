# Included by the interface packages when `make setup` builds them: a third of the work of a plain `colcon build`.

# With the wheels, only Python nodes use the types: no C++ types, and of the Python extensions only the one that rclpy
# loads. Without introspection in C, rmw_fastrtps prints an error for each publisher and subscription.
if(PYTHON_TYPES_ONLY)
  list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")
  macro(rosidl_generator_py_get_typesupports TYPESUPPORT_IMPLS)
    set(${TYPESUPPORT_IMPLS} "rosidl_typesupport_c")
  endmacro()
endif()

# Generated code consists of many short files that include the same long headers: compile several as one. The files of
# introspection_cpp cannot be joined, nor the descriptions, which have static names in common.
function(join_generated_sources)
  foreach(support generator_c typesupport_cpp typesupport_fastrtps_cpp typesupport_c typesupport_fastrtps_c
      typesupport_introspection_c generator_py)
    set(target ${PROJECT_NAME}__rosidl_${support})
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 60)
      target_compile_options(${target} PRIVATE -Wno-redundant-decls)
      get_target_property(sources ${target} SOURCES)
      list(FILTER sources INCLUDE REGEX "__description\\.c$")
      set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.19)
  cmake_language(DEFER CALL join_generated_sources)
endif()
