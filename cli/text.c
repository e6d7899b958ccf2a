/* made anew, see ingest/nowhere.c */
