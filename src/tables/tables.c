#include "tables/table.h"
