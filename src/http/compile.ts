import { Ajv } from 'ajv'
import build from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'

type Serializer = (body: unknown) => string

const ajv = new Ajv({ allErrors: true, strict: false })
/** Both variants and several endpoints share a schema, which is compiled on first use. */
const serializers = new WeakMap<object, Serializer>()

/** Compiling at start took most of the start-up time and half of the idle memory. */
export function compileLazily(app: FastifyInstance) {
  app.setSerializerCompiler(({ schema }) => (body) => {
    let serialize = serializers.get(schema)
    if (!serialize) {
      serialize = build(schema as object) as Serializer
      serializers.set(schema, serialize)
    }
    return serialize(body)
  })
  app.setValidatorCompiler(({ schema }) => {
    const check = (body: unknown) => {
      // Ajv caches compiled validators by schema.
      const validate = ajv.compile(schema as object)
      const valid = validate(body)
      check.errors = validate.errors ?? null
      return valid
    }
    check.errors = null as ReturnType<typeof ajv.compile>['errors'] | null
    return check as never
  })
}
