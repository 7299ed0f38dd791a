/*
 * tree.h - folders below the data path, by descriptor.  Private to this folder.
 */
#ifndef NX_STORE_TREE_H
#define NX_STORE_TREE_H

#include <stdbool.h>

#include "store/store.h"

#define NX_LATEST "@latest"
#define NX_TEMP_MARK "@latest.tmp-" /* in the name of a sibling: ".NAME@latest.tmp-XXXXXX" */
#define NX_FOLDER_MAX (NX_PROFILE_NAME_MAX + sizeof(NX_LATEST)) /* bytes of "NAME@latest" with its NUL */

/* "NAME@latest" of a name that nx_profile_name_check() accepts. */
void nx_profile_folder(const char *name, char folder[NX_FOLDER_MAX]);
/* Removes the folder NAME below `parent` with all that is in it. Never follows links. False: something is
 * left. */
bool nx_tree_remove(int parent, const char *name);
/* Flushes the folder's files and the folder itself to disk. False: errno says why. */
bool nx_tree_sync(int dir);

#endif
