import { Ajv } from 'ajv'
import build from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'

type Serializer = (body: unknown) => string

const ajv = new Ajv({ allErrors: true, strict: false })
/** One schema serves both variants and several endpoints: it is compiled once, and not before it is used. */
const serializers = new WeakMap<object, Serializer>()

/** A start compiles nothing: that took most of its time, and half of the idle memory. */
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
      // Ajv keeps what it compiled by the schema itself.
      const validate = ajv.compile(schema as object)
      const valid = validate(body)
      check.errors = validate.errors ?? null
      return valid
    }
    check.errors = null as ReturnType<typeof ajv.compile>['errors'] | null
    return check as never
  })
}
