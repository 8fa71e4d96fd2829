import build from 'fast-json-stringify'

type Serializer = (body: unknown) => string

/** Both variants and several endpoints share a schema, which is compiled on first use. */
const serializers = new WeakMap<object, Serializer>()

/** A body that is JSON already. An endpoint returns it instead of the value. */
export class Serialized {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export function serialize(schema: object, body: unknown): string {
  if (body instanceof Serialized) return body.text
  let serializer = serializers.get(schema)
  if (!serializer) {
    serializer = build(schema) as Serializer
    serializers.set(schema, serializer)
  }
  return serializer(body)
}
