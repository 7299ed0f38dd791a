#include "ntff/ntff.h"
