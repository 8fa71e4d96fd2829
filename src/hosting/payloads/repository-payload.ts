import { unaddressed as wire } from '#activity/outbox/addresses.ts'
import { repositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'

/** A repository as receivers are told of it. Nobody gives one properties of their own here, and receivers count on being told so. */
export function toldRepositoryJson(repo: Repository) {
  return { ...repositoryJson(repo, wire, false), custom_properties: {} }
}
