/*
 * engine_idle.h - the pauses of one compute engine (engine_idle.sql), for 2a and 3. Private to this folder.
 */
#ifndef NX_ANALYSIS_ENGINE_IDLE_H
#define NX_ANALYSIS_ENGINE_IDLE_H

#include "analysis/investigation.h"

/* Tables and figures of what ended the engine's pauses. Returns the share of them that one cause ended most,
 * and *who. */
double nx_put_pauses(struct nx_case *c, enum nx_unit unit, const char **who);

#endif
