// A host that knows no JavaScript: reads calls from standard input, each its length (u32, little endian) and
// its bytes, and writes the module's results in the same shape.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "policy.h"

int main(void) {
  Z_policy_instance_t instance;
  uint32_t length;
  wasm_rt_init();
  Z_policy_init_module();
  Z_policy_instantiate(&instance);
  if (Z_policyZ_abi_version(&instance) != 1) return 2;
  while (fread(&length, 4, 1, stdin) == 1) {
    uint8_t *call = malloc(length + 1);
    if (call == NULL || fread(call, 1, length, stdin) != length) return 3;
    uint32_t pointer = Z_policyZ_alloc(&instance, length);
    // Growth may move the memory, so its address is read after every call into the module.
    if (pointer != 0) memcpy(Z_policyZ_memory(&instance)->data + pointer, call, length);
    uint32_t result = Z_policyZ_evaluate(&instance, pointer, length);
    const uint8_t *data = Z_policyZ_memory(&instance)->data + result;
    uint32_t size;
    memcpy(&size, data, 4);
    fwrite(data, 1, 4 + size, stdout);
    free(call);
  }
  return 0;
}
