import type { Source } from '#importer/source.ts'
import { arrange } from '#importer/staging/arrange/arrange.ts'
import { filesOf, readCheckpoint } from './checkpoint.ts'
import { connectTo } from './connection.ts'
import { readHistory } from './history.ts'
import { readPlan, settlePlan } from './plan.ts'
import { probe } from './probe.ts'
import { verify } from './verify.ts'

export const subversion: Source = {
  probe,

  async convert(origin, workspace) {
    const connection = await connectTo(origin, workspace, workspace.folder)
    const { plan, repository } = await settlePlan(origin, connection, workspace)
    const { commit_count, notes } = await readHistory(plan, repository, connection, workspace)
    return { commit_count, notes }
  },

  async arrange(_origin, { folder, repository, signal, default_branch }) {
    const plan = await readPlan(folder)
    if (!plan) throw new Error('nothing was converted yet')
    const { revisions, marks, record } = filesOf(folder)
    const { large } = await readCheckpoint(folder)
    const strategy = { layout: plan.layout }
    const arranged = await arrange({ repository, revisions, marks, record, strategy, default_branch, signal })
    return { ...arranged, ...(large && { large_blobs: large }) }
  },

  verify,
}
