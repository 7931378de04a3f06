//! Where everything goes that can't be used: set aside with a reason, never deleted.

use super::disk::{Disk, DiskResult, Durability, Folder, Place};
use crate::digest::Digest;

/// Digits of a content's digest in the name of what is kept.
const DIGITS: usize = 12;

/// Keeps a durable copy of bytes that are about to be overwritten. The same bytes are kept once.
pub(super) fn keep(
    disk: &impl Disk,
    origin: &Place,
    bytes: &[u8],
    reason: &str,
) -> DiskResult<Place> {
    open(disk)?;
    let digits = Digest::of_content(bytes).to_string();
    let digits = digits.get(..DIGITS).unwrap_or(&digits);
    let place = Place::new(Folder::Quarantine, &format!("{}-{digits}", origin.name()));
    match disk.read(&place, 0)? {
        Some((kept, _)) if kept == bytes => {}
        // Torn when it was kept before: it gives way to another name.
        Some(_) => return keep_again(disk, origin, bytes, reason),
        None => write(disk, &place, bytes, reason)?,
    }
    disk.sync_folder(Folder::Quarantine)?;
    Ok(place)
}

fn keep_again(disk: &impl Disk, origin: &Place, bytes: &[u8], reason: &str) -> DiskResult<Place> {
    let place = free_name(disk, origin)?;
    write(disk, &place, bytes, reason)?;
    disk.sync_folder(Folder::Quarantine)?;
    Ok(place)
}

fn write(disk: &impl Disk, place: &Place, bytes: &[u8], reason: &str) -> DiskResult<()> {
    explain(disk, place, reason)?;
    disk.create(place, bytes, Durability::Synced)?;
    Ok(())
}

/// Moves a file there as it is.
pub(super) fn take(disk: &impl Disk, origin: &Place, reason: &str) -> DiskResult<Place> {
    open(disk)?;
    let place = free_name(disk, origin)?;
    explain(disk, &place, reason)?;
    disk.rename(origin, &place)?;
    Ok(place)
}

fn open(disk: &impl Disk) -> DiskResult<()> {
    if disk.list(Folder::Quarantine)?.is_none() {
        disk.make_folder(Folder::Quarantine)?;
        disk.sync_folder(Folder::Session)?;
    }
    Ok(())
}

/// A name that nothing has there yet.
fn free_name(disk: &impl Disk, origin: &Place) -> DiskResult<Place> {
    let taken = disk.list(Folder::Quarantine)?.unwrap_or_default();
    let name = origin.name().trim_start_matches('.');
    let mut number = 1_u64;
    loop {
        let place = Place::new(Folder::Quarantine, &format!("{name}-{number}"));
        let reason = reason_place(&place);
        if taken
            .binary_search_by(|name| name.as_str().cmp(place.name()))
            .is_err()
            && taken
                .binary_search_by(|name| name.as_str().cmp(reason.name()))
                .is_err()
        {
            return Ok(place);
        }
        number += 1;
    }
}

fn reason_place(place: &Place) -> Place {
    Place::new(Folder::Quarantine, &format!("{}.reason.txt", place.name()))
}

/// Says why, before it is there: a file without a reason would be a riddle.
fn explain(disk: &impl Disk, place: &Place, reason: &str) -> DiskResult<()> {
    let reason_place = reason_place(place);
    if disk.stamp(&reason_place)?.is_none() {
        disk.create(
            &reason_place,
            format!("{reason}\n").as_bytes(),
            Durability::Eventual,
        )?;
    }
    Ok(())
}
