import type { TProperties, TSchema, Type as TypeBox } from 'typebox'

export type { Static, TObject, TSchema } from 'typebox'

type Used = 'Array' | 'Boolean' | 'Integer' | 'Null' | 'Object' | 'Optional' | 'Partial' | 'String' | 'Unsafe'
type Options = Record<string, unknown>

/** Marks an optional property. Not enumerable, so that the marker is not part of the schema. */
const mark = '~optional'

const optional = (schema: object) => Object.defineProperty({ ...schema }, mark, { value: true })

function object(properties: TProperties, options: Options = {}) {
  const required = Object.keys(properties).filter((name) => !(mark in (properties[name] as TSchema)))
  return { type: 'object', ...(required.length && { required }), properties, ...options }
}

/**
 * The types of TypeBox, and the nine builders that we use. TypeBox's own builders load an engine that we do not use, which takes 14 MB of
 * memory and 60 ms of every start.
 */
export const Type = {
  Array: (items: TSchema, options: Options = {}) => ({ type: 'array', items, ...options }),
  Boolean: (options: Options = {}) => ({ type: 'boolean', ...options }),
  Integer: (options: Options = {}) => ({ type: 'integer', ...options }),
  Null: () => ({ type: 'null' }),
  Object: object,
  Optional: optional,
  Partial: ({ properties }: { properties: TProperties }) =>
    object(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, optional(schema)])) as TProperties),
  String: (options: Options = {}) => ({ type: 'string', ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
} as unknown as Pick<typeof TypeBox, Used>
