//===- runtime.h - run plans: the C interface of libsol_runtime -----------===//
//
// Open a plan, ask what it wants, run it on tensors, or let it write text.
// Every function that can fail returns a `sol_status *`: null on success,
// otherwise an object with a message, to be freed by the caller. Pointers
// handed out belong to the object that they come from and live as long as it,
// unless said otherwise.
//
//   sol_plan *plan;
//   sol_session *session;
//   const sol_tensor *outputs;
//   size_t count;
//   sol_status *status = sol_plan_open("plan.bin", NULL, &plan);
//   if (!status)
//     status = sol_session_open(plan, NULL, NULL, &session);
//   if (!status)
//     status = sol_session_run(session, inputs, 2, &outputs, &count);
//   if (status) {
//     puts(sol_status_message(status));
//     sol_status_free(status);
//   }
//
// A plan may be shared by sessions on several threads; a session may not.
//
//===----------------------------------------------------------------------===//
#ifndef SOL_RUNTIME_H
#define SOL_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOL_EXPORT __attribute__((visibility("default")))

//===- Errors ------------------------------------------------------------===//

typedef struct sol_status sol_status;

/** What the caller can do about it. */
typedef enum sol_status_code {
  SOL_INVALID_ARGUMENT = 3,    /**< the call, an input or a file is wrong */
  SOL_NOT_FOUND = 5,           /**< no such file, function or input */
  SOL_RESOURCE_EXHAUSTED = 8,  /**< not enough memory, or beyond a limit */
  SOL_FAILED_PRECONDITION = 9, /**< e.g. a plan of another format version */
  SOL_OUT_OF_RANGE = 11,       /**< an index or a length beyond its range */
  SOL_UNIMPLEMENTED = 12,      /**< a feature that this release refuses */
  SOL_INTERNAL = 13,           /**< a fault of Sol: please report it */
  SOL_DATA_LOSS = 15           /**< the plan's bytes are damaged */
} sol_status_code;

SOL_EXPORT sol_status_code sol_status_get_code(const sol_status *status);
SOL_EXPORT const char *sol_status_message(const sol_status *status);
SOL_EXPORT void sol_status_free(sol_status *status);

//===- Plans -------------------------------------------------------------===//

typedef struct sol_plan sol_plan;

typedef struct sol_plan_options {
  /** Do not compare weights with their hashes before their first use. */
  int skip_weight_verification;
} sol_plan_options;

/** Maps a plan; takes milliseconds whatever its size. `options` may be null. */
SOL_EXPORT sol_status *sol_plan_open(const char *path,
                                     const sol_plan_options *options,
                                     sol_plan **plan);
/** Sessions that were opened on the plan must be closed before. */
SOL_EXPORT void sol_plan_close(sol_plan *plan);

/** An input or output of a function. */
typedef struct sol_port {
  const char *name;
  int32_t type;             /**< TensorProto.DataType */
  int32_t rank;             /**< -1 if it is known at run time only */
  const char *const *sizes; /**< `rank` texts: numbers or expressions */
  const char *role;         /**< what text generation feeds it; "" if nothing */
  int32_t partner;          /**< a past's output or a present's input, or -1 */
  int32_t is_state;         /**< the session can keep it between runs */
} sol_port;

SOL_EXPORT size_t sol_plan_function_count(const sol_plan *plan);
SOL_EXPORT const char *sol_plan_function_name(const sol_plan *plan,
                                              size_t function);
/** Most positions of a sequence of that function; 0 if not limited. */
SOL_EXPORT int64_t sol_plan_context(const sol_plan *plan, size_t function);
SOL_EXPORT size_t sol_plan_input_count(const sol_plan *plan, size_t function);
SOL_EXPORT size_t sol_plan_output_count(const sol_plan *plan, size_t function);
/** Indices must be below the counts. */
SOL_EXPORT sol_port sol_plan_input(const sol_plan *plan, size_t function,
                                   size_t index);
SOL_EXPORT sol_port sol_plan_output(const sol_plan *plan, size_t function,
                                    size_t index);

/**
 * The size that a port's text stands for (`2*past + step`) when the symbol
 * `names[i]` is `values[i]`, for i below `count`; -1 if another symbol occurs
 * in it, or if it is no size.
 */
SOL_EXPORT int64_t sol_size_value(const char *text, const char *const *names,
                                  const int64_t *values, size_t count);

/**
 * An output that feeds an input of another function: an encoder's states, or a
 * past of a function that goes on where another has begun.
 */
typedef struct sol_link {
  size_t from_function;
  size_t from_output;
  size_t to_function;
  size_t to_input;
} sol_link;

SOL_EXPORT size_t sol_plan_link_count(const sol_plan *plan);
/** `index` must be below the count. */
SOL_EXPORT sol_link sol_plan_link(const sol_plan *plan, size_t index);

/** Version text of the compiler that made the plan. */
SOL_EXPORT const char *sol_plan_compiler(const sol_plan *plan);
/**
 * An embedded file (`tokenizer.json`, …): its bytes, or null if the plan has
 * none of that name or it is damaged.
 */
SOL_EXPORT const char *sol_plan_resource(const sol_plan *plan, const char *name,
                                         size_t *bytes);

//===- Tensors -----------------------------------------------------------===//

/**
 * A dense row-major tensor. 4-bit elements lie two to a byte, the first in the
 * low nibble; bool is one byte.
 */
typedef struct sol_tensor {
  const char *name;
  int32_t type; /**< TensorProto.DataType */
  int32_t rank;
  const int64_t *sizes;
  const void *data;
  size_t bytes;
} sol_tensor;

//===- Sessions ----------------------------------------------------------===//

typedef struct sol_session sol_session;

typedef struct sol_session_options {
  int32_t threads;            /**< 0: one for each processor */
  int64_t memory_limit_bytes; /**< of computed values; 0: the machine's */
  int32_t profile;            /**< measure each node's time */
} sol_session_options;

/**
 * Opens a session on the function of that name; null takes the only function.
 * `options` may be null.
 */
SOL_EXPORT sol_status *sol_session_open(const sol_plan *plan,
                                        const char *function,
                                        const sol_session_options *options,
                                        sol_session **session);
SOL_EXPORT void sol_session_close(sol_session *session);

/**
 * Runs the function once on explicit inputs, in any order, found by name. Pasts
 * are inputs like others (of length 0 at first), presents are outputs.
 * `outputs` gets an array of `count` tensors in the function's order, valid
 * until the next call on the session. Sizes are checked against the plan's; an
 * error names the input and the axis, or the node.
 */
SOL_EXPORT sol_status *
sol_session_run(sol_session *session, const sol_tensor *inputs,
                size_t input_count, const sol_tensor **outputs, size_t *count);

/**
 * Puts tokens behind those that the session holds and computes their logits:
 * `logits` becomes a float32 tensor of (positions, vocabulary), for the last
 * positions that the model gives logits of; valid until the next call. The
 * session keeps the caches. Where another function begins for this one (see
 * sol_plan_link), the first tokens go there. Fails beyond the plan's context.
 */
SOL_EXPORT sol_status *sol_session_feed(sol_session *session,
                                        const int64_t *tokens, size_t count,
                                        sol_tensor *logits);
/**
 * For a decoder that an encoder of the plan feeds (see sol_plan_link): runs the
 * encoder on these tokens and keeps what it gives for all feeds until the next
 * call; forgets the tokens fed so far. Fails if no encoder feeds the function.
 */
SOL_EXPORT sol_status *sol_session_encode(sol_session *session,
                                          const int64_t *tokens, size_t count);
/** Number of tokens that the session holds. */
SOL_EXPORT int64_t sol_session_length(const sol_session *session);
/** Forgets all tokens from position `length` on. */
SOL_EXPORT sol_status *sol_session_truncate(sol_session *session,
                                            int64_t length);
/** Memory allocations by runs so far: steady runs make none. */
SOL_EXPORT int64_t sol_session_allocations(const sol_session *session);

/** Time spent in the steps of one ONNX node. */
typedef struct sol_profile_entry {
  const char *node;
  const char *kernel;
  int64_t calls;
  double seconds;
} sol_profile_entry;

/** Calls `visit` for each step, in the order of the program. */
SOL_EXPORT void sol_session_profile(const sol_session *session,
                                    void (*visit)(const sol_profile_entry *,
                                                  void *),
                                    void *user);

//===- Text --------------------------------------------------------------===//

/** Tokens of `text`; free them with sol_tokens_free. */
SOL_EXPORT sol_status *sol_plan_encode(const sol_plan *plan, const char *text,
                                       size_t bytes, int add_special_tokens,
                                       int64_t **tokens, size_t *count);
SOL_EXPORT void sol_tokens_free(int64_t *tokens);
/** Text of `tokens`; free it with sol_text_free. */
SOL_EXPORT sol_status *sol_plan_decode(const sol_plan *plan,
                                       const int64_t *tokens, size_t count,
                                       int skip_special_tokens, char **text);
SOL_EXPORT void sol_text_free(char *text);

typedef struct sol_generation_options {
  /**
   * What to answer: a JSON array of messages `[{"role": "user", "content": …}]`
   * for the chat template, or with `raw` the prompt itself.
   */
  const char *prompt;
  int32_t raw;
  /**
   * 0: until the model ends or the context is full. More than the context
   * leaves room for is an error, told after what there is room for has been
   * written.
   */
  int64_t max_tokens;
  float temperature; /**< 0: always the likeliest token */
  int64_t top_k;     /**< 0: all */
  float top_p;       /**< 1: all */
  uint64_t seed;
  const char *const *stop; /**< texts that end the answer */
  size_t stop_count;
  /** Tokens of the prompt computed at once; 0: chosen by the runtime. */
  int64_t chunk;
  /**
   * Called between the chunks of a prompt with the tokens computed so far and
   * those to compute in all; may be null. A result other than 0 ends the
   * generation.
   */
  int (*on_prompt_progress)(int64_t done, int64_t total, void *user);
  void *progress_user; /**< its last argument */
} sol_generation_options;

typedef struct sol_generation_result {
  int64_t prompt_tokens;
  int64_t generated_tokens;
  double seconds_to_first_token;
  double seconds; /**< in all */
  /** Why it ended: "end", "stop", "length", "context" or "cancelled". */
  const char *reason;
} sol_generation_result;

/**
 * Called with each piece of text as it comes: whole UTF-8 characters, not
 * terminated. A result other than 0 ends the generation.
 */
typedef int (*sol_text_callback)(const char *text, size_t bytes, void *user);

/**
 * Writes an answer behind what the session holds (nothing, or the turns before,
 * whose tokens are kept where the new prompt begins with them). Where an
 * encoder feeds the function, the prompt goes to it, and the answer begins with
 * the model's start token.
 */
SOL_EXPORT sol_status *sol_session_generate(
    sol_session *session, const sol_generation_options *options,
    sol_text_callback on_text, void *user, sol_generation_result *result);

/**
 * Settings beside the model that change tokens and that this release does not
 * apply, one a line; "" if there are none.
 */
SOL_EXPORT const char *sol_plan_unapplied_settings(const sol_plan *plan);

/** Version text of this library. */
SOL_EXPORT const char *sol_runtime_version(void);

#ifdef __cplusplus
}
#endif

#endif /* SOL_RUNTIME_H */
