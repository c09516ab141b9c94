"""Painting of signs into shaded images, with the light that falls on their wall."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import cv2
import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lodestar.geometry.camera import PinholeCamera
from lodestar_sim.raycast import MISS, Hits, RaycastWorld
from lodestar_sim.worlds.elements import Sign
from lodestar_sim.worlds.palette import rgb

_FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans-Bold.ttf"
_TEXELS = 64  # texels per height of a capital letter, finest level
_MAX_TEXELS = 4096  # limit of a texture's width, texels
_FAR = 12.0  # m, distance beyond which signs are not painted
_FLUSH = 0.02  # m, largest distance between a hit and the plane of its sign
_SAMPLES = 3  # texture samples per pixel and axis


@functools.lru_cache(maxsize=256)
def sign_texture(sign: Sign) -> np.ndarray:
    """Return the image of the sign's plate, (H, W, 3) uint8 sRGB, row 0 on top."""
    scale = min(_TEXELS / sign.letter_height, _MAX_TEXELS / sign.size[0])  # texels per metre
    letter = max(round(scale * sign.letter_height), 4)
    width, height = (max(round(scale * side), 4) for side in sign.size)
    image = Image.new("RGB", (width, height), rgb(sign.background))
    draw = ImageDraw.Draw(image)
    edge = tuple(round(0.75 * b + 0.25 * i) for b, i in zip(rgb(sign.background), rgb(sign.ink)))
    draw.rectangle((0, 0, width - 1, height - 1), outline=edge, width=max(letter // 16, 1))
    font = ImageFont.truetype(str(_FONT), round(letter / 0.729))  # capitals of this font are 0.729 em high
    lines = sign.text.split("\n")
    for row, line in enumerate(lines):
        middle = (width / 2, height * (row + 0.5) / len(lines) + letter / 2)
        draw.text(middle, line, font=font, fill=rgb(sign.ink), anchor="ms")
    pixels = np.asarray(image)
    return np.ascontiguousarray(pixels[:, ::-1]) if sign.mirrored else pixels


@functools.lru_cache(maxsize=1024)
def _shrunk(sign: Sign, level: int) -> np.ndarray:
    """Return a sign's texture in linear light, (H, W, 3) float32, at 1 / 2**level of the full resolution."""
    fine = sign_texture(sign)
    size = (max(fine.shape[1] >> level, 2), max(fine.shape[0] >> level, 2))
    return _linear(cv2.resize(fine, size, interpolation=cv2.INTER_AREA))


def _linear(srgb: np.ndarray) -> np.ndarray:
    s = np.asarray(srgb, np.float32) / np.float32(255.0)
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4).astype(np.float32)


class SignPainter:
    """Paint the signs of a world. display: (4096,) uint8, the shader's table from linear light in 0..2 to sRGB."""

    def __init__(self, signs: Sequence[Sign], display: np.ndarray) -> None:
        self._signs = [(sign, *_axes(sign)) for sign in signs]
        self._display = display
        self._light_of: np.ndarray = np.searchsorted(display, np.arange(256)).astype(np.float32) / np.float32(
            2048.0
        )

    def paint(
        self, image: np.ndarray, hits: Hits, rays: np.ndarray, scene: RaycastWorld, camera: PinholeCamera
    ) -> None:
        """Paint signs onto an image (H, W, 3) uint8, in place, at the pixels whose hits lie on a sign."""
        if not self._signs:
            return
        origin = rays[0, :3].astype(np.float64)
        turn = _world_from_optical(rays, camera)
        for sign, center, right, normal in self._signs:
            away = center - origin
            if away @ normal >= 0.0 or away @ away > _FAR**2:
                continue
            corners = [
                center + right * (a * sign.size[0] / 2) + np.array([0.0, 0.0, b * sign.size[1] / 2])
                for a in (-1, 1)
                for b in (-1, 1)
            ]
            local = (np.array(corners) - origin) @ turn
            if (local[:, 2] < 0.05).any():
                continue
            columns = local[:, 0] / local[:, 2] * camera.fx + camera.cx
            rows = local[:, 1] / local[:, 2] * camera.fy + camera.cy
            c0, r0 = max(int(columns.min()), 0), max(int(rows.min()), 0)
            c1, r1 = min(int(columns.max()) + 2, camera.width), min(int(rows.max()) + 2, camera.height)
            if c1 > c0 and r1 > r0:
                self._paint_one(
                    image, hits, rays, scene, camera, (sign, center, right, normal), (r0, r1, c0, c1)
                )

    def _paint_one(self, image, hits, rays, scene, camera, placed, box) -> None:  # type: ignore[no-untyped-def]
        sign, center, right, normal = placed
        r0, r1, c0, c1 = box
        index = (np.arange(r0, r1)[:, None] * camera.width + np.arange(c0, c1)[None, :]).ravel()
        triangle, distance = hits.triangle[index], hits.distance[index]
        origin = rays[0, :3].astype(np.float64)
        directions = rays[index, 3:].astype(np.float64)
        plane = ((center - origin) @ normal) / np.minimum(directions @ normal, -1e-6)
        points = origin + directions * plane[:, None] - center
        flush = np.abs(distance - plane) * np.abs(directions @ normal) < _FLUSH
        inside = (np.abs(points @ right) < sign.size[0] / 2) & (np.abs(points[:, 2]) < sign.size[1] / 2)
        shown = np.flatnonzero(flush & inside & (triangle != MISS))
        if not len(shown):
            return
        pixel = np.median(plane[shown]) / camera.fx  # metres per pixel at the sign's distance
        level = max(int(np.log2(max(pixel / _SAMPLES * sign_texture(sign).shape[1] / sign.size[0], 1.0))), 0)
        texture = _shrunk(sign, level)
        # the texture is sampled on a grid within each pixel
        across = (rays[camera.width - 1, 3:] - rays[0, 3:]).astype(np.float64) / (camera.width - 1)
        down = (rays[-camera.width, 3:] - rays[0, 3:]).astype(np.float64) / (camera.height - 1)
        total = np.zeros((len(shown), 3), np.float32)
        height, width = texture.shape[:2]
        offsets = (np.arange(_SAMPLES) + 0.5) / _SAMPLES - 0.5
        for a in offsets:
            for b in offsets:
                ray = directions[shown] + a * across + b * down
                hit = origin + ray * (((center - origin) @ normal) / (ray @ normal))[:, None] - center
                x = ((hit @ right) / sign.size[0] + 0.5) * width - 0.5
                y = (0.5 - hit[:, 2] / sign.size[1]) * height - 0.5
                total += cv2.remap(
                    texture,
                    x.astype(np.float32)[None],
                    y.astype(np.float32)[None],
                    cv2.INTER_LINEAR,
                    borderMode=cv2.BORDER_REPLICATE,
                )[0]
        rows, columns = np.divmod(index[shown], camera.width)
        wall = np.maximum(_linear(scene.colors[triangle[shown]]), np.float32(0.01))
        light = self._light_of[image[rows, columns]] / wall
        steps = np.clip(total / _SAMPLES**2 * light * 2048.0, 0, 4095).astype(np.int64)
        image[rows, columns] = self._display[steps]


def _axes(sign: Sign) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the centre, the unit vector to the reader's right, and the normal of a sign, (3,) each."""
    normal = np.array(sign.normal)
    return np.array(sign.center, float), np.array([-normal[1], normal[0], 0.0]), normal


def _world_from_optical(rays: np.ndarray, camera: PinholeCamera) -> np.ndarray:
    """Return the rotation (3, 3) of the camera from the directions of its rays."""
    across = (rays[camera.width - 1, 3:] - rays[0, 3:]).astype(np.float64) / (camera.width - 1) * camera.fx
    down = (rays[-camera.width, 3:] - rays[0, 3:]).astype(np.float64) / (camera.height - 1) * camera.fy
    ahead = rays[0, 3:].astype(np.float64) + across * camera.cx / camera.fx + down * camera.cy / camera.fy
    return np.column_stack([across, down, ahead])
