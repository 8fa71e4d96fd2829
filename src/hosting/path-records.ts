import type { PathLoaders } from '#http/route-params.ts'
import { checkTokenIncludes } from './issues/rights.ts'
import { checkMember, checkOwner, loadOrganization, type Organization } from './organizations/organizations.ts'
import { loadRepository, loadRepositoryById, type Repository } from './repositories/repositories.ts'
import { loadTeam, type Team } from './teams/teams.ts'

/** In a handler, `repo`, `org` and `team` have these types. */
declare module '#http/endpoint.ts' {
  interface PathRepository extends Repository {}
  interface PathOrganization extends Organization {}
  interface PathTeam extends Team {}
}

export const pathLoaders: PathLoaders = {
  loadOrganization,
  checkRole: (org, role) => (role === 'owner' ? checkOwner : checkMember)(org),
  loadTeam,
  loadRepository,
  loadRepositoryById,
  checkTokenIncludes,
}
