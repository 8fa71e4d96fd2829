import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { NullableRepository, RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import { specified, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import { type Static, type TObject, Type } from '#platform/schema.ts'
import type { Stargazer, StarredRepository } from './starring.ts'

const StarredRepositorySchema = Type.Object({
  ...RepositorySchema.properties,
  template_repository: NullableRepository,
  network_count: Type.Integer(),
})
const StarredItem = Type.Object({ starred_at: Timestamp, repo: StarredRepositorySchema })
const StargazerItem = Type.Object({ starred_at: Timestamp, user: SimpleUser })

/** The plain item, or with the media type `star` an item with `starred_at`. Partial fields serialize faster than a union, which tries each schema. */
const either = <Plain extends TObject, Dated extends TObject>(plain: Plain, dated: Dated) =>
  Type.Array(Type.Unsafe<Static<Plain> | Static<Dated>>(Type.Partial(Type.Object({ ...dated.properties, ...plain.properties }))))

export const StarredList = either(StarredRepositorySchema, StarredItem)
export const StargazerList = either(SimpleUser, StargazerItem)

export function starredJson(row: StarredRepository, wire: Wire, dated: boolean): Static<typeof StarredList>[number] {
  const listed = repositoryJson(row, wire, true)
  const repo = {
    ...listed,
    description: specified(listed.description, '', wire),
    template_repository: row.template ? repositoryJson(row.template, wire, true) : null,
    network_count: row.network_count,
  }
  return dated ? { starred_at: timestamp(row.starred_at), repo } : repo
}

export function stargazerJson(row: Stargazer, wire: Wire, dated: boolean): Static<typeof StargazerList>[number] {
  const user = userJson(row, wire)
  return dated ? { starred_at: timestamp(row.starred_at), user } : user
}
