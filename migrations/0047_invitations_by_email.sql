-- The first page of a user lists the invitations that name their e-mail address.
create index organization_invitations_address on organization_invitations (lower(email)) where email is not null;
