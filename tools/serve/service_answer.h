/*
 * service_answer.h - answers requests about the stores of a service. Knows no network: http.h brings the requests.
 */
#ifndef SERVICE_ANSWER_H
#define SERVICE_ANSWER_H

#include "serve/job.h"
#include "serve/service.h"

typedef enum service_lane {
    SERVICE_NOW,   /* takes microseconds: the thread of the network may answer it */
    SERVICE_LATER, /* another thread should answer it, by service_answer() */
    SERVICE_WRITE  /* service_write() takes it */
} service_lane;

/* Read a request's arguments and body, and say who should answer it. After an error, which is then the reply, that is
 * SERVICE_NOW, and nothing else is to be done. */
service_lane service_read(service *self, job *queued, const char *body, size_t size);

/* Answer a request of the lanes NOW and LATER. */
void service_answer(service *self, job *queued);

/* Hand a request to the thread that writes, which calls its done(). False: the reply is an error. */
bool service_write(service *self, job *queued);

#endif
