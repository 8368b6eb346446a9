/* Signs through a PKCS#11 module with eight threads at once, then in a child of a fork, then again: forks MODULE. Prints how many signatures of
 * 64 octets came. Only what is called is declared, as PKCS#11 2.40 has it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long ulong_t;
typedef struct { ulong_t type; void *value; ulong_t length; } attribute;
typedef struct { ulong_t type; void *parameter; ulong_t length; } mechanism;
typedef struct { void *create, *destroy, *lock, *unlock; ulong_t flags; void *reserved; } initialisation;

/* Places of functions in CK_FUNCTION_LIST, behind its version. */
enum { Initialize = 0, Finalize = 1, GetSlotList = 4, OpenSession = 12, FindObjectsInit = 26, FindObjects = 27, FindObjectsFinal = 28, SignInit = 42, Sign = 43 };
static void **functions;
#define CALL(place, ...) (((ulong_t (*)())functions[place])(__VA_ARGS__))

static ulong_t slots[16], session_flags = 4;

static ulong_t initialise(void) {
  initialisation how = {0};
  how.flags = 2;
  return CALL(Initialize, &how);
}

/* Signs so many times in a session of its own; answers how many signatures came. */
static ulong_t sign_times(ulong_t times) {
  ulong_t session, key, found, made = 0, class = 3;
  ulong_t count = 16;
  attribute wanted = {0, &class, sizeof class};
  mechanism ecdsa = {0x1041, 0, 0};
  if (CALL(GetSlotList, (unsigned char)1, slots, &count) != 0 || count == 0) return 0;
  if (CALL(OpenSession, slots[0], session_flags, (void *)0, (void *)0, &session) != 0) return 0;
  if (CALL(FindObjectsInit, session, &wanted, 1ul) != 0) return 0;
  CALL(FindObjects, session, &key, 1ul, &found);
  CALL(FindObjectsFinal, session);
  if (found != 1) return 0;
  for (; times > 0; times--) {
    unsigned char digest[32], signature[256];
    ulong_t length = sizeof signature;
    memset(digest, (int)times, sizeof digest);
    if (CALL(SignInit, session, &ecdsa, key) == 0 && CALL(Sign, session, digest, (ulong_t)sizeof digest, signature, &length) == 0 && length == 64) made++;
  }
  return made;
}

static void *thread(void *made) {
  *(ulong_t *)made = sign_times(40);
  return 0;
}

int main(int count, char **words) {
  (void)count;
  void *library = dlopen(words[1], RTLD_NOW);
  ulong_t (*get)(void **) = (ulong_t (*)(void **))dlsym(library, "C_GetFunctionList");
  char *list;
  if (get == 0 || get((void **)&list) != 0 || (functions = (void **)(list + sizeof(void *)), initialise()) != 0) return 1;
  pthread_t threads[8];
  ulong_t made[8], all = 0;
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, thread, &made[i]);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], 0), all += made[i];
  printf("threads %lu\n", all);
  fflush(stdout);
  if (fork() == 0) {
    printf("child %lu\n", initialise() == 0 ? sign_times(1) : 0);
    fflush(stdout);
    _exit(0);
  }
  wait(0);
  printf("parent %lu\n", sign_times(1));
  return 0;
}
