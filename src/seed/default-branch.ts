import type { SeedRepository } from './repository-format.ts'

/** Each repository with its default branch. A fork has that of its parent, which is further up. */
export function fillDefaultBranches(repositories: SeedRepository[]): SeedRepository[] {
  const known = new Map<string, string>()
  return repositories.map((repository) => {
    const default_branch = repository.default_branch ?? known.get(repository.fork_of ?? '') ?? 'main'
    known.set(repository.name, default_branch)
    return { ...repository, default_branch }
  })
}
