#include "neff/neff.h"
