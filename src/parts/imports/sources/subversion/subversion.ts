import { arrange } from '../../staging/arranging/arranging.ts'
import type { Source } from '../source.ts'
import { connectTo } from './connection.ts'
import { filesOf, readHistory } from './history.ts'
import { readPlan, settlePlan } from './plan.ts'
import { probe } from './probing.ts'
import { verify } from './verifying.ts'

export const subversion: Source = {
  probe,

  async convert(origin, workshop) {
    const connection = await connectTo(origin, workshop, workshop.folder)
    const { plan, repository } = await settlePlan(origin, connection, workshop.folder)
    const { commit_count, notes } = await readHistory(plan, repository, connection, workshop)
    return { commit_count, notes }
  },

  async arrange(_origin, { folder, repository, signal, default_branch }) {
    const plan = await readPlan(folder)
    if (!plan) throw new Error('nothing was converted yet')
    const { revisions, marks, record } = filesOf(folder)
    return arrange({ repository, revisions, marks, record, strategy: { layout: plan.layout }, default_branch, signal })
  },

  verify,
}
