/*
 * tree.h - folders below the data path, by descriptor.  Private to this folder.
 */
#ifndef NX_STORE_TREE_H
#define NX_STORE_TREE_H

#include <stdbool.h>

#define NX_LATEST "@latest"
#define NX_TEMP_MARK "@latest.tmp-" /* in the name of a sibling: ".NAME@latest.tmp-XXXXXX" */

/* Removes the folder NAME below `parent` with all that is in it. Never follows links. False: something is left. */
bool nx_tree_remove(int parent, const char *name);
/* Flushes the folder's files and the folder itself to disk. */
bool nx_tree_sync(int dir);

#endif
