import { compare } from '#git/compare.ts'
import { readCommit } from '#git/objects.ts'
import { writeCommits } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Answer, get, group } from '#http/endpoint.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { ComparisonSchema, comparisonJson } from './json.ts'

export const api = group('Comparisons', [
  get(
    '/repos/{owner}/{repo}/compare/{basehead+}',
    {
      permission: 'contents:read',
      viewer: 'optional',
      optional_scopes: ['repo'],
      operation: 'repos/compare-commits-with-basehead',
      refuses: ['conflict'],
      summary: 'Compare two commits: `base...head`, named by branch, tag or SHA',
      list: true,
      answers: { 200: ComparisonSchema },
    },
    async ({ db, storage, repo, params, page, wire }) => {
      const asked = readEnds(repo, params.basehead)
      const comparison = await compare(storage, repo.id, asked.base, asked.head)
      const { merge_base } = comparison
      if (!merge_base) throw new Refusal('missing', `No common ancestor between ${asked.base} and ${asked.head}.`)
      const ends = [await readCommit(storage, repo.id, comparison.base), await readCommit(storage, repo.id, merge_base)]
      const listed = comparison.commits.slice(page.offset, page.offset + page.limit)
      const [base, common, ...shown] = await writeCommits(db, [...ends, ...listed], repo, wire)
      if (!base || !common) throw missing()
      const body = comparisonJson(comparison, asked, { base, merge_base: common, shown }, repo, wire)
      return new Answer(body, { total: comparison.commits.length })
    },
  ),
])

/** Either side may be prefixed with the owner. Forks are not compared. */
function readEnds({ owner_login }: Repository, basehead: string) {
  const names = basehead.split('...').map((name) => {
    const [, owner, rest = name] = /^([^:]*):(.*)$/s.exec(name) ?? []
    if (owner !== undefined && owner.toLowerCase() !== owner_login.toLowerCase()) throw missing()
    return rest
  })
  const [base, head, ...more] = names
  if (!base || !head || more.length) throw missing()
  return { base, head }
}
