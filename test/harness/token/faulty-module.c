// A PKCS#11 module between a process and the real module, for tests: makes a call fail, hang, crash or answer what is wrong. Which one, a
// table in shared memory says that the test writes (faulty-module.ts); all processes and threads with this module count its calls together.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pkcs11/pkcs11.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// In the order of `faultKinds` in faulty-module.ts, whose comments say what each does.
enum kind { NONE, REFUSE, REFUSE_AFTER, DELAY, CRASH, FLIP, ZERO, SHORT, LONG, OTHER_HANDLE, BAD_HANDLE, LOSE_SESSIONS, REFUSE_AS, ABSENT };

// As faulty-module.ts writes it. Calls of `function` pass `before` times, then the fault strikes `times` times.
struct table {
  _Atomic uint32_t armed;
  uint32_t kind;
  uint32_t argument;
  _Atomic int32_t before;
  _Atomic int32_t times;
  _Atomic uint32_t struck;
  char function[32];
};

struct fault {
  enum kind kind;
  uint32_t argument;
};

// Where a call puts what it answers: octets or handles, and how many.
struct answer {
  CK_BYTE *octets;
  CK_ULONG *length;
  CK_ULONG *handle;
};

static CK_FUNCTION_LIST *real;
static CK_FUNCTION_LIST wrapped;
static struct table *table;
static _Atomic CK_SLOT_ID slot;

static struct fault next_fault(const char *function) {
  struct fault none = {NONE, 0};
  if (table == NULL || atomic_load(&table->armed) == 0 || strcmp(table->function, function) != 0) return none;
  if (atomic_fetch_sub(&table->before, 1) > 0 || atomic_fetch_sub(&table->times, 1) <= 0) return none;
  atomic_fetch_add(&table->struck, 1);
  return (struct fault){table->kind, table->argument};
}

// What happens before the real call. False when there is to be none: then `rv` is the answer.
static int goes_on(struct fault fault, CK_RV *rv) {
  struct timespec wait = {fault.argument / 1000, fault.argument % 1000 * 1000000L};
  switch (fault.kind) {
    case REFUSE: *rv = fault.argument; return 0;
    case DELAY: nanosleep(&wait, NULL); return 1;
    case CRASH: abort();
    case LOSE_SESSIONS: real->C_CloseAllSessions(slot); return 1;
    default: return 1;
  }
}

// What becomes of the answer. `latest` is the handle that this function gave last.
static CK_RV spoilt(struct fault fault, CK_RV rv, struct answer answer, _Atomic CK_ULONG *latest) {
  CK_ULONG length = answer.length == NULL ? 0 : *answer.length, earlier = 0;
  if (fault.kind == REFUSE_AFTER) return fault.argument;
  if (fault.kind == REFUSE_AS && rv != CKR_OK && rv != CKR_BUFFER_TOO_SMALL) return fault.argument;
  if (rv != CKR_OK) return rv;
  if (answer.length != NULL && length == 0) return rv;
  if (answer.handle != NULL) earlier = atomic_exchange(latest, *answer.handle);
  if (fault.kind == FLIP && answer.octets != NULL) answer.octets[fault.argument / 8 % length] ^= 1 << fault.argument % 8;
  if (fault.kind == ZERO && answer.octets != NULL) memset(answer.octets, 0, length);
  if (fault.kind == SHORT && answer.length != NULL) *answer.length -= 1 + fault.argument % length;
  if (fault.kind == LONG && answer.length != NULL) *answer.length += 1 + fault.argument % 64;
  if (fault.kind == OTHER_HANDLE && earlier != 0) *answer.handle = earlier;
  if (fault.kind == BAD_HANDLE && answer.handle != NULL) *answer.handle = 0xbad0bad;
  return rv;
}

// A function of the module with its fault. The last arguments are the members of its answer.
#define WRAP(name, parameters, arguments, ...)                            \
  static CK_RV faulty_##name parameters {                                 \
    static _Atomic CK_ULONG latest;                                       \
    struct fault fault = next_fault(#name);                               \
    CK_RV rv;                                                             \
    if (!goes_on(fault, &rv)) return rv;                                  \
    rv = real->name arguments;                                            \
    return spoilt(fault, rv, (struct answer){__VA_ARGS__}, &latest);      \
  }

typedef CK_SESSION_HANDLE Session;
typedef CK_OBJECT_HANDLE Object;
typedef CK_ATTRIBUTE *Attributes;
typedef CK_MECHANISM *Mechanism;

WRAP(C_Initialize, (void *options), (options), 0)
WRAP(C_Finalize, (void *reserved), (reserved), 0)
WRAP(C_GetSlotList, (CK_BBOOL present, CK_SLOT_ID *slots, CK_ULONG *count), (present, slots, count), .length = slots == NULL ? NULL : count)
WRAP(C_GetSlotInfo, (CK_SLOT_ID id, CK_SLOT_INFO *info), (id, info), .octets = (CK_BYTE *)info, .length = &(CK_ULONG){sizeof *info})
WRAP(C_GetTokenInfo, (CK_SLOT_ID id, CK_TOKEN_INFO *info), (id, info), .octets = (CK_BYTE *)info, .length = &(CK_ULONG){sizeof *info})
WRAP(C_GetMechanismList, (CK_SLOT_ID id, CK_MECHANISM_TYPE *list, CK_ULONG *count), (id, list, count), .length = list == NULL ? NULL : count)
WRAP(C_InitToken, (CK_SLOT_ID id, CK_BYTE *pin, CK_ULONG length, CK_BYTE *label), (id, pin, length, label), 0)
WRAP(C_InitPIN, (Session session, CK_BYTE *pin, CK_ULONG length), (session, pin, length), 0)
WRAP(C_SetPIN, (Session session, CK_BYTE *old, CK_ULONG oldLength, CK_BYTE *new, CK_ULONG newLength),
     (session, old, oldLength, new, newLength), 0)
WRAP(C_OpenSession, (CK_SLOT_ID id, CK_FLAGS flags, void *application, CK_NOTIFY notify, Session *session),
     (slot = id, flags, application, notify, session), .handle = session)
WRAP(C_CloseSession, (Session session), (session), 0)
WRAP(C_GetSessionInfo, (Session session, CK_SESSION_INFO *info), (session, info), 0)
WRAP(C_Login, (Session session, CK_USER_TYPE user, CK_BYTE *pin, CK_ULONG length), (session, user, pin, length), 0)
WRAP(C_Logout, (Session session), (session), 0)
WRAP(C_CreateObject, (Session session, Attributes attributes, CK_ULONG count, Object *made), (session, attributes, count, made),
     .handle = made)
WRAP(C_CopyObject, (Session session, Object object, Attributes attributes, CK_ULONG count, Object *made),
     (session, object, attributes, count, made), .handle = made)
WRAP(C_DestroyObject, (Session session, Object object), (session, object), 0)
WRAP(C_FindObjectsInit, (Session session, Attributes attributes, CK_ULONG count), (session, attributes, count), 0)
WRAP(C_FindObjects, (Session session, Object *found, CK_ULONG most, CK_ULONG *count), (session, found, most, count), .length = count,
     .handle = found)
WRAP(C_FindObjectsFinal, (Session session), (session), 0)
WRAP(C_GenerateKey, (Session session, Mechanism mechanism, Attributes attributes, CK_ULONG count, Object *made),
     (session, mechanism, attributes, count, made), .handle = made)
WRAP(C_GenerateKeyPair,
     (Session session, Mechanism mechanism, Attributes public, CK_ULONG publicCount, Attributes private, CK_ULONG privateCount,
      Object *publicKey, Object *privateKey),
     (session, mechanism, public, publicCount, private, privateCount, publicKey, privateKey), .handle = privateKey)
WRAP(C_WrapKey, (Session session, Mechanism mechanism, Object with, Object key, CK_BYTE *out, CK_ULONG *length),
     (session, mechanism, with, key, out, length), .octets = out, .length = length)
WRAP(C_UnwrapKey,
     (Session session, Mechanism mechanism, Object with, CK_BYTE *blob, CK_ULONG length, Attributes attributes, CK_ULONG count, Object *made),
     (session, mechanism, with, blob, length, attributes, count, made), .handle = made)
WRAP(C_DeriveKey, (Session session, Mechanism mechanism, Object base, Attributes attributes, CK_ULONG count, Object *made),
     (session, mechanism, base, attributes, count, made), .handle = made)
WRAP(C_EncryptInit, (Session session, Mechanism mechanism, Object key), (session, mechanism, key), 0)
WRAP(C_Encrypt, (Session session, CK_BYTE *in, CK_ULONG inLength, CK_BYTE *out, CK_ULONG *length), (session, in, inLength, out, length),
     .octets = out, .length = length)
WRAP(C_DecryptInit, (Session session, Mechanism mechanism, Object key), (session, mechanism, key), 0)
WRAP(C_Decrypt, (Session session, CK_BYTE *in, CK_ULONG inLength, CK_BYTE *out, CK_ULONG *length), (session, in, inLength, out, length),
     .octets = out, .length = length)
WRAP(C_SignInit, (Session session, Mechanism mechanism, Object key), (session, mechanism, key), 0)
WRAP(C_Sign, (Session session, CK_BYTE *in, CK_ULONG inLength, CK_BYTE *out, CK_ULONG *length), (session, in, inLength, out, length),
     .octets = out, .length = length)
WRAP(C_GenerateRandom, (Session session, CK_BYTE *out, CK_ULONG length), (session, out, length), .octets = out, .length = &length)

// The binding asks for the length of a value first. Only the call that reads the value counts.
static CK_RV faulty_C_GetAttributeValue(Session session, Object object, Attributes attributes, CK_ULONG count) {
  struct fault none = {NONE, 0};
  struct fault fault = attributes->pValue == NULL ? none : next_fault("C_GetAttributeValue");
  CK_RV rv;
  if (!goes_on(fault, &rv)) return rv;
  rv = real->C_GetAttributeValue(session, object, attributes, count);
  if (table != NULL && atomic_load(&table->armed) != 0 && table->kind == ABSENT && rv == CKR_OK && attributes->ulValueLen == 0) {
    atomic_fetch_add(&table->struck, 1);
    attributes->ulValueLen = CK_UNAVAILABLE_INFORMATION;
    return table->argument;
  }
  if (attributes->pValue == NULL) return rv;
  return spoilt(fault, rv, (struct answer){.octets = attributes->pValue, .length = &attributes->ulValueLen}, NULL);
}

static void fail(const char *what) {
  fprintf(stderr, "faulty module: %s\n", what);
  exit(70);
}

static void load(void) {
  const char *module = getenv("KEYSTORED_FAULTY_REAL"), *path = getenv("KEYSTORED_FAULTY_TABLE");
  void *library = dlopen(module == NULL ? "" : module, RTLD_NOW | RTLD_LOCAL);
  CK_C_GetFunctionList list = library == NULL ? NULL : (CK_C_GetFunctionList)dlsym(library, "C_GetFunctionList");
  int file = open(path == NULL ? "" : path, O_RDWR | O_CLOEXEC);
  if (list == NULL || list(&real) != CKR_OK) fail("KEYSTORED_FAULTY_REAL names no module");
  if (file < 0) fail("KEYSTORED_FAULTY_TABLE names no file");
  table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (table == MAP_FAILED) fail("the table cannot be mapped");
  close(file);
  // A crash is wanted, its memory image is not.
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

#define TAKE(name) wrapped.name = faulty_##name;

// Once: the threads of a process ask one after another, and call meanwhile.
static void wrap(void) {
  wrapped = *real;
  TAKE(C_Initialize) TAKE(C_Finalize) TAKE(C_GetSlotList) TAKE(C_GetSlotInfo) TAKE(C_GetTokenInfo) TAKE(C_GetMechanismList) TAKE(C_InitToken)
  TAKE(C_InitPIN) TAKE(C_SetPIN) TAKE(C_OpenSession) TAKE(C_CloseSession) TAKE(C_GetSessionInfo) TAKE(C_Login) TAKE(C_Logout) TAKE(C_CreateObject)
  TAKE(C_CopyObject) TAKE(C_DestroyObject) TAKE(C_GetAttributeValue) TAKE(C_FindObjectsInit) TAKE(C_FindObjects) TAKE(C_FindObjectsFinal)
  TAKE(C_GenerateKey) TAKE(C_GenerateKeyPair) TAKE(C_WrapKey) TAKE(C_UnwrapKey) TAKE(C_DeriveKey) TAKE(C_EncryptInit) TAKE(C_Encrypt) TAKE(C_DecryptInit)
  TAKE(C_Decrypt) TAKE(C_SignInit) TAKE(C_Sign) TAKE(C_GenerateRandom)
  wrapped.C_GetFunctionList = C_GetFunctionList;
}

CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list) {
  if (real == NULL) {
    load();
    wrap();
  }
  *list = &wrapped;
  return CKR_OK;
}
