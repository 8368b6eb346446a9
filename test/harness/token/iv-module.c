// A PKCS#11 module between a process and SoftHSM2 that makes the IVs of AES-GCM itself, as some HSMs do, and refuses any other: KEYSTORED_IV_MODE says where they
// come out. `returned`: twelve zeros are given, and the IV is written there. `appended-12`, `appended-16`: none is given, and the IV follows the tag.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pkcs11/pkcs11.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { MOST_SESSIONS = 1024, LONGEST_IV = 16 };

static CK_FUNCTION_LIST *real;
static CK_FUNCTION_LIST wrapped;
static int appended, iv_bytes;

// What each session encrypts with, until it has: by its handle, which SoftHSM2 counts up.
static struct pending {
  int active;
  CK_BYTE iv[LONGEST_IV];
  CK_BYTE *out;
} pending[MOST_SESSIONS];

static CK_RV made_EncryptInit(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key) {
  if (mechanism->mechanism != CKM_AES_GCM) return real->C_EncryptInit(session, mechanism, key);
  CK_GCM_PARAMS parameters = *(CK_GCM_PARAMS *)mechanism->pParameter;
  struct pending *one = &pending[session % MOST_SESSIONS];
  static const CK_BYTE zeros[LONGEST_IV];
  if (appended ? parameters.ulIvLen != 0 || parameters.ulIvBits != 8UL * iv_bytes
               : parameters.ulIvLen != 12 || memcmp(parameters.pIv, zeros, 12) != 0)
    return CKR_MECHANISM_PARAM_INVALID;
  if (getrandom(one->iv, iv_bytes, 0) != iv_bytes) return CKR_RANDOM_NO_RNG;
  one->active = 1;
  one->out = parameters.pIv;
  parameters.pIv = one->iv;
  parameters.ulIvLen = iv_bytes;
  parameters.ulIvBits = 8UL * iv_bytes;
  CK_MECHANISM given = {CKM_AES_GCM, &parameters, sizeof parameters};
  return real->C_EncryptInit(session, &given, key);
}

static CK_RV made_Encrypt(CK_SESSION_HANDLE session, CK_BYTE *in, CK_ULONG in_length, CK_BYTE *out, CK_ULONG *length) {
  struct pending *one = &pending[session % MOST_SESSIONS];
  if (!one->active) return real->C_Encrypt(session, in, in_length, out, length);
  CK_ULONG room = *length;
  CK_RV rv = real->C_Encrypt(session, in, in_length, out, length);
  if (rv != CKR_OK || out == NULL) return rv;
  one->active = 0;
  if (!appended) {
    memcpy(one->out, one->iv, iv_bytes);
    return CKR_OK;
  }
  if (room < *length + iv_bytes) return CKR_BUFFER_TOO_SMALL;
  memcpy(out + *length, one->iv, iv_bytes);
  *length += iv_bytes;
  return CKR_OK;
}

CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list) {
  if (real == NULL) {
    const char *module = getenv("KEYSTORED_IV_REAL"), *mode = getenv("KEYSTORED_IV_MODE");
    void *library = dlopen(module == NULL ? "" : module, RTLD_NOW | RTLD_LOCAL);
    CK_C_GetFunctionList of_real = library == NULL ? NULL : (CK_C_GetFunctionList)dlsym(library, "C_GetFunctionList");
    if (of_real == NULL || mode == NULL || of_real(&real) != CKR_OK) {
      fprintf(stderr, "iv module: KEYSTORED_IV_REAL names no module, or KEYSTORED_IV_MODE is missing\n");
      exit(70);
    }
    appended = strncmp(mode, "appended", 8) == 0;
    iv_bytes = strcmp(mode, "appended-16") == 0 ? 16 : 12;
    wrapped = *real;
    wrapped.C_EncryptInit = made_EncryptInit;
    wrapped.C_Encrypt = made_Encrypt;
    wrapped.C_GetFunctionList = C_GetFunctionList;
  }
  *list = &wrapped;
  return CKR_OK;
}
