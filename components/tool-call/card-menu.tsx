'use client';

import { Ellipsis } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { memo } from 'react';
import { Button } from '#components/ui/button';
import { Menu, MenuItem, MenuSeparator } from '#components/ui/menu';
import type { CardActions } from './card-actions.ts';

export interface CardMenuProps {
  callId: string;
  toolName: string;
  /** False for those who read only: they have no row that would be refused. */
  mayAct: boolean;
  isFinal: boolean;
  canCancel: boolean;
  canExtend: boolean;
  mayRepeat: boolean;
  /** Clients run it, and not the server. */
  hasClients: boolean;
  actions: CardActions;
}

/** Everything that can be done with a call. `memo`: a progress update does not touch it. */
export const CardMenu = memo(function CardMenu(props: CardMenuProps) {
  const { callId, actions } = props;
  const t = useTranslations('card');
  const common = useTranslations('common');
  const trigger = (
    <Button
      size="sm"
      className="btn-icon"
      aria-label={t('action.menu', { tool: props.toolName })}
      data-card-menu
    >
      <Ellipsis aria-hidden className="size-4" />
    </Button>
  );
  return (
    <Menu trigger={trigger} label={t('action.menu', { tool: props.toolName })}>
      <MenuItem onSelect={() => actions.copy(callId, 'id')}>{t('action.copyId')}</MenuItem>
      <MenuItem onSelect={() => actions.copy(callId, 'curl')}>{common('copyCurl')}</MenuItem>
      <MenuItem onSelect={() => actions.copy(callId, 'json')}>{t('action.copyJson')}</MenuItem>
      <MenuSeparator />
      <MenuItem disabled={!props.isFinal} onSelect={() => actions.showModelOutput(callId)}>
        {t('action.modelOutput')}
      </MenuItem>
      {props.mayAct && (
        <MenuItem disabled={!props.isFinal} onSelect={() => actions.retry(callId)}>
          {t(props.mayRepeat ? 'action.retryAgain' : 'action.retry')}
        </MenuItem>
      )}
      {props.mayAct && props.hasClients && (
        <MenuItem disabled={!props.isFinal} onSelect={() => actions.showClients(callId)}>
          {t('elsewhere.open')}
        </MenuItem>
      )}
      {props.canExtend && (
        <MenuItem onSelect={() => actions.extend(callId)}>{t('action.extend')}</MenuItem>
      )}
      {props.mayAct && (
        <MenuItem danger disabled={!props.canCancel} onSelect={() => void actions.cancel(callId)}>
          {t('action.cancel')}
        </MenuItem>
      )}
    </Menu>
  );
});
