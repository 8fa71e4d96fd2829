import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { errorBody } from './errors.ts'
import { markUnserved } from './unserved.ts'

/** Answers GraphQL clients with a message that they print. They cannot read the page that other unknown addresses get. */
export function mountGraphqlRefusal(listener: FastifyInstance, path: string, { addresses }: Belfry) {
  const message = 'Belfry serves no GraphQL. Use the REST API.'
  listener.all(path, {
    // Before the body is read, because it is not needed.
    onRequest: async (_, reply) => {
      markUnserved(reply)
      return reply
        .code(404)
        .type('application/json; charset=utf-8')
        .send(errorBody(404, message, `${addresses.web}/docs`))
    },
    handler: () => undefined,
  })
}
