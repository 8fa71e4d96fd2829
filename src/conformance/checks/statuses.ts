import type { Context, Part } from '../check.ts'

/** An operation that needs a user, and a request of it that no server may serve without one. */
export interface Guarded {
  id: string
  method: string
  operation: string
  /** The statuses as the specification lists them. */
  words: string
  path(context: Context): Promise<string> | string
}

/** 401 without credentials, and with wrong ones. */
export function checkAuthentication(part: Part, operations: Guarded[]) {
  for (const { id, method, operation, words, path } of operations) {
    part.check(`${id}.anonymous`, operation, [words, 'authentication required.'], async (context) =>
      (await context.anonymous.send(method, await path(context))).is(401),
    )
    part.check(`${id}.wrong-token`, operation, [words], async (context) =>
      (await context.anonymous.with({ authorization: 'Bearer no-such-token' }).send(method, await path(context))).is(401),
    )
  }
}
