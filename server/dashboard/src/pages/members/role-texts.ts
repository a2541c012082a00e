import type { Role } from '../../../../rights.ts';

export const ROLE_TEXTS: Record<Role, string> = {
  viewer: 'reads records, agents, members and activity',
  editor: 'also saves and checks policies',
  admin: 'also manages keys, viewers and editors',
  owner: 'may do everything',
};
